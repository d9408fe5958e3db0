return Object.keys(safety.fs).join(" ");
