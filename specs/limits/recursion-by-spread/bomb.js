function* again() {
  yield* again();
}
return [...again()];
