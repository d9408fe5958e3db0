await (await fetch("http://public.test/drip")).text();
