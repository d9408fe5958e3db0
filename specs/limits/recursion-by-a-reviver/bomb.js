const again = () => JSON.parse('[1]', again);
again();
