await fetch("http://nowhere.test/");
