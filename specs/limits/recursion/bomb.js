(function again() {
  again();
})();
