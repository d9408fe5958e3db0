try {
  return 'ESCAPED: ' + require('fs').readFileSync('/proc/self/status', 'utf8').length;
} catch (error) {
  return `refused: ${error.message}`;
}
