const list = Array.from({ length: 5000 }, (_, i) => i);
for (;;) list.sort(() => (list.length % 2 ? 1 : -1));
