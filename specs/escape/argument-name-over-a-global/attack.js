return JSON;
