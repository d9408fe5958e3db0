for (;;) {
  try {
    const kept = [];
    for (;;) kept.push('x'.repeat(1000) + kept.length);
  } catch {}
  throw new Error('another name for it');
}
