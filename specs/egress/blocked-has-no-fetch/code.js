return typeof fetch;
