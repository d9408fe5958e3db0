try { await fetch("http://169.254.169.254/"); } catch (error) { return [error.code, error.denied.layer, error.denied.fix].join(" | "); }
