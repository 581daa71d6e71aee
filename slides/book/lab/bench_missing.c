// What the program simt has and the bench of the book has not: commands that start programs, and a watch in a terminal.
#include <errno.h>
#include <spawn.h>

#include "base/error.h"
#include "cli/exec_command.h"
#include "watch/terminal.h"

bool exec_is_meant(int argc, char **argv)
{
    (void)argc, (void)argv;
    return false;
}

int exec_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return 2;
}

bool watch_terminal(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch,
                    const struct watch_begin *begin, char error[DEV_ERROR_MAX])
{
    (void)s, (void)k, (void)launch, (void)begin;
    return error_set(error, "there is no terminal here");
}

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict])
{
    (void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)envp;
    return ENOSYS;
}
