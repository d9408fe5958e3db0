return (await fetch("https://api.test/")).status;
