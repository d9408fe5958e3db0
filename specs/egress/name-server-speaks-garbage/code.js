await fetch("http://garbage.test/");
