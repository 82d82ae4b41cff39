import { needing, sameEverywhere } from './support';

const repository = 'git init -q here && cd here && echo one > file && git add . && git commit -qm first';

needing('git')('git makes a repository, commits and shows its history', async () => {
  const script = `${repository} && echo two >> file && git commit -qam second && git log --format=%s && git status --short`;
  await sameEverywhere('second\nfirst\n', { script });
});

needing('git')('git makes branches, merges, rebases and stashes', async () => {
  const script = `${repository}
    git switch -qc side && echo side > other && git add . && git commit -qm side
    git switch -q main && echo two >> file && git commit -qam second && git merge -q --no-edit side 2> /dev/null
    git switch -q side && git rebase -q main && echo dirty >> file && git stash -q && git stash pop -q
    git diff --stat | tail -n 1; git log --format=%s --no-merges | sort`;
  await sameEverywhere(' 1 file changed, 1 insertion(+)\nfirst\nsecond\nside\n', { script });
});

needing('git')('git makes a worktree and works in it', async () => {
  const script = `${repository} && git worktree add -q -b other ../there && cd ../there && echo two >> file &&
    git commit -qam second && git -C ../here log --format=%s other && git worktree list | wc -l`;
  await sameEverywhere('second\nfirst\n2\n', { script });
});

needing('git')('git clones, fetches and pushes over file://', async () => {
  const script = `(${repository}) && git clone -q --bare here bare.git && git clone -q "file://$PWD/bare.git" copy && cd copy &&
    echo two >> file && git commit -qam second && git push -q && git -C ../here fetch -q ../bare.git main &&
    git -C ../here log --format=%s FETCH_HEAD`;
  await sameEverywhere('second\nfirst\n', { script });
});

needing('git')('git runs hooks, packs and checks itself', async () => {
  const script = `${repository} && printf '#!/bin/sh\\necho hook\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
    echo two >> file && git commit -qam second 2>&1 && git gc -q && git fsck --no-progress 2> /dev/null && echo fine`;
  await sameEverywhere('hook\nfine\n', { script });
});

needing('git')('git bisects with a script', async () => {
  const script = `${repository}
    for n in 2 3 4 5 6; do echo $n > file && git commit -qam "change $n"; done
    git bisect start HEAD HEAD~4 > log 2>&1 && git bisect run sh -c 'test "$(cat file)" -lt 4' >> log 2>&1
    git log -1 --format=%s refs/bisect/bad`;
  await sameEverywhere('change 4\n', { script });
});
