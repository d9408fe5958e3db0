return ["delete", "deleteDir", "move"].every((name) => name in safety.fs);
