let value = [{}];
for (;;) value = [...value, ...structuredClone(value)];
