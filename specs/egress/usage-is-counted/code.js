await (await fetch("http://public.test/")).text(); return 1;
