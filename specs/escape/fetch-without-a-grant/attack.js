const answer = await fetch('data:text/plain,ESCAPED');
return answer.text();
