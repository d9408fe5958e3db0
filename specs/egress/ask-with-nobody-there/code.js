await fetch("http://public.test/");
