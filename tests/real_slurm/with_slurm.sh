#!/bin/sh
# Runs a command with the programs of another version of Slurm: with_slurm.sh VERSION COMMAND...
# That version is installed in a folder of its own below build/, from the Debian that has it, and
# nothing else of this machine is changed. Mounts are seen by the command alone.
set -eu
version=$1
shift
case $version in
    24.11) suite=trixie ;;
    26.05) suite=sid ;;
    *) echo "expected version 24.11 or 26.05 of Slurm, found $version" >&2; exit 2 ;;
esac
if [ "$(id -u)" != 0 ]; then
    echo "Slurm $version is not tried: to install it takes root"
    exit 0
fi
if ! unshare --mount true 2>/dev/null; then
    echo "Slurm $version is not tried: folders cannot be mounted here"
    exit 0
fi
folder=$PWD/build/slurm-$version
programs=$PWD/build/slurm-$version-programs
if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' | head -n 1)
    packages=slurmctld,slurmd,slurmrestd,slurm-client,slurm-wlm-basic-plugins,slurm-wlm-jwt-plugin,munge,slurmdbd,slurm-wlm-mysql-plugin
    if ! { command -v debootstrap || timeout 120 apt-get install -y -q debootstrap; } >/dev/null ||
        ! timeout 300 debootstrap --variant=minbase --include=$packages $suite "$folder" "$mirror" >/dev/null; then
        echo "Slurm $version is not tried: it could not be installed"
        exit 0
    fi
    touch "$folder/complete"
fi
# Debian's unstable moves on to later versions.
found=$(chroot "$folder" slurmctld -V)
case $found in
    *" $version".*) ;;
    *) echo "Slurm $version is not tried: Debian $suite has $found"; exit 0 ;;
esac
mkdir -p "$programs"
for program in munged mungekey slurmctld slurmd slurmrestd sbatch scancel scontrol sinfo squeue setpriv \
    slurmdbd sacctmgr sacct sprio sshare; do
    # Within the folder, this folder of programs must not come first again.
    printf '#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin exec chroot %s %s "$@"\n' \
        "$folder" $program >"$programs/$program"
    chmod +x "$programs/$program"
done
cp /etc/hosts /etc/hostname "$folder/etc"
export PATH="$programs:$PATH" FOLDER="$folder"
# shellcheck disable=SC2016 (expanded by the inner shell)
exec unshare --mount sh -c '
    for shared in proc dev sys tmp; do mount --bind "/$shared" "$FOLDER/$shared"; done
    exec "$@"' sh "$@"
