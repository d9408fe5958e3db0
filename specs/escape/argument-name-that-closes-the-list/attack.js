return 'ran';
