await fetch("https://mute.test/");
