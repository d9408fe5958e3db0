class Again {
  toJSON() {
    return new Again();
  }
}
return { a: new Again() };
