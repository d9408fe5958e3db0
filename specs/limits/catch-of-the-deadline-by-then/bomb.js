const spin = async () => {
  for (;;);
};
return spin().then(() => 'caught', () => 'caught').finally(() => console.log('caught'));
