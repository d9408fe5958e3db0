let it;
async function* wait() {
  yield await it.next();
}
it = wait();
return it.next();
