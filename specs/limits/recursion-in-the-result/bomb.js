return { get a() {
  const again = () => again() + 1;
  return again();
} };
