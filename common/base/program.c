// See program.h.
#include "program.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Starts it; what it says can be read from the descriptor returned. -1 where that fails.
static int start(char *const argv[], pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed)
        return ends[0];
    close(ends[0]);
    return -1;
}

static char *read_all(int from)
{
    char *text = NULL, part[4096];
    size_t size;
    ssize_t n;
    FILE *out = open_memstream(&text, &size);
    while ((n = read(from, part, sizeof part)) > 0)
        if (out)
            fwrite(part, 1, (size_t)n, out);
    if (out && fclose(out)) {
        free(text);
        text = NULL;
    }
    return text;
}

bool program_run(char *const argv[], char **said, int *status)
{
    pid_t pid;
    int how, from = start(argv, &pid);
    *said = NULL;
    if (from < 0)
        return false;
    *said = read_all(from);
    close(from);
    if (waitpid(pid, &how, 0) != pid || !*said) {
        free(*said);
        *said = NULL;
        return false;
    }
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
}
