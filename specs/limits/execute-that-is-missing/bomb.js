const other = () => 'never called';
