throw Symbol('mark');
