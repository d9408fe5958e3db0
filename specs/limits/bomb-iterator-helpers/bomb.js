let it = [1].values();
for (;;) it = it.map((x) => x);
