const wait = async () => {
  await null;
  await null;
};
for (;;) wait();
