// a harmless comment   }}); console.log('ESCAPED'); ({ async ""() {
