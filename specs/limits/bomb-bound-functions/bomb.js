let bound = () => {};
for (;;) bound = bound.bind(null, 1, 2, 3);
