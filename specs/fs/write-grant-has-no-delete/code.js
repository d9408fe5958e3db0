return ["delete" in safety.fs, "deleteDir" in safety.fs, "writeText" in safety.fs].join(" ");
