await fetch("http://10.0.0.5/");
