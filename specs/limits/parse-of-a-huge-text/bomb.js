return JSON.parse('[' + '{},'.repeat(400000) + '1]').length;
