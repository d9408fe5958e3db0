for (;;) {
  try {
    for (;;);
  } catch {
    console.log('caught');
  }
}
