return ['\u001b[2J', '\u009b2J', 'refused'];
