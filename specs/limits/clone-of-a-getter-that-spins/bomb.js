structuredClone({ get a() {
  for (;;);
} });
