let base = class {};
for (;;) base = class extends base {};
