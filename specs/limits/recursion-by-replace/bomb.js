const again = () => 'a'.replace(/a/, again);
again();
