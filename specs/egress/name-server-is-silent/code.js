await fetch("http://silent.test/");
