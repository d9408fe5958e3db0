// A program that does one thing of several, by its first argument. It is compiled by the tests that run it.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int failed(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  return 1;
}

static int show(const char *path) {
  char buffer[256];
  FILE *file = fopen(path, "r");
  if (!file) return failed(path);
  while (fgets(buffer, sizeof buffer, file)) fputs(buffer, stdout);
  return 0;
}

static int fill(const char *folder) {
  char path[256];
  for (long number = 0;; number++) {
    snprintf(path, sizeof path, "%s/%ld", folder, number);
    FILE *file = fopen(path, "w");
    if (!file || fputs("something", file) < 0 || fclose(file)) {
      printf("%s after %s\n", errno == ENOSPC ? "full" : strerror(errno), number > 100 ? "many" : "few");
      return 0;
    }
  }
}

int main(int count, char **words) {
  const char *verb = count > 1 ? words[1] : "";
  if (!strcmp(verb, "words")) {
    for (int index = 0; index < count; index++) printf("[%s]", words[index]);
    for (char **one = environ; *one; one++) printf("\n%s", *one);
    return 0;
  }
  if (!strcmp(verb, "show") && count > 2) return show(words[2]);
  if (!strcmp(verb, "fill") && count > 2) return fill(words[2]);
  if (!strcmp(verb, "link") && count > 3) {
    if (symlink(words[2], words[3])) return failed("symlink");
    return show(words[3]);
  }
  if (!strcmp(verb, "list") && count > 2) {
    DIR *folder = opendir(words[2]);
    if (!folder) return failed(words[2]);
    for (struct dirent *one; (one = readdir(folder));) {
      if (one->d_name[0] != '.') printf("%s\n", one->d_name);
    }
    return 0;
  }
  if (!strcmp(verb, "remember")) {
    size_t held = 0;
    // What nobody looks at, a compiler may leave out.
    for (volatile char *piece; (piece = malloc(1 << 20)); held++) piece[held] = 1;
    printf("%s\n", held > 4 ? "some" : "none");
    return 3;
  }
  if (!strcmp(verb, "abort")) abort();
  return 2;
}
