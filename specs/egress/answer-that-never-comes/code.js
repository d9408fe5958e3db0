await fetch("http://public.test/silent");
