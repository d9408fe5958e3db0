try {
  return 'ESCAPED: ' + Object.keys(process.env).length + process.argv.join();
} catch (error) {
  return `refused: ${error.message}`;
}
