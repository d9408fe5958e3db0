let depth = 0;
const again = () => {
  depth++;
  return again() + 1;
};
return again();
