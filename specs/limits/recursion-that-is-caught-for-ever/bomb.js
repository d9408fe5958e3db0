const again = () => {
  try {
    again();
  } finally {
    again();
  }
};
again();
