const again = () => again() + 1;
try {
  again();
} catch (error) {
  return `caught ${error.name}`;
}
