async function spin() {
  for (;;);
}
for (;;) {
  try {
    await spin();
  } catch {
    console.log('caught');
  }
}
