#!/usr/bin/env bats
# The tools that people really use give the same output and the same exit status on a mount as on a plain copy.
#
# One command a line, run by bash in the directory of an array. The store holds the same array many times over, so each
# command meets files that no one has read yet; the copy is the text that makestore.py computed. What a command writes into
# $OUT is compared too. `N|` in front: that exit status is wanted instead of 0. `A ### B`: A on the mount, B on the copy.
# presets: dev
# limit: 400

load helper

setup_file() { make_store many 60; }

setup() {
  export PYTHON
  NEXT=0
  mount_store "$BATS_FILE_TMPDIR/many/store"
}

# run_in DIR COMMAND WHERE: stdout, stderr, status and what was written go to WHERE.
run_in() {
  local status=0
  mkdir -p "$3/out"
  (cd "$1" && OUT=$3/out limit 60 bash -o pipefail -c "$2" >"$3/stdout" 2>"$3/stderr" </dev/null 3>&-) || status=$?
  echo "$status" >"$3/status"
  chmod -R u+w "$3/out"
}

# same: reads commands, one a line, from stdin.
same() {
  local line copied want failed=0 top=$BATS_TEST_TMPDIR/run
  while IFS= read -r line <&4; do
    [ -n "$line" ] || continue
    want=0
    if [[ $line =~ ^([0-9]+)\|\ (.*)$ ]]; then
      want=${BASH_REMATCH[1]}
      line=${BASH_REMATCH[2]}
    fi
    copied=${line#*' ### '}
    line=${line%%' ### '*}
    rm -rf "$top"
    run_in "$BATS_FILE_TMPDIR/many/expect/a000" "$copied" "$top/copy"
    run_in "$MNT/$(printf 'a%03d' "$NEXT")" "$line" "$top/mount"
    NEXT=$((NEXT + 1))
    if [ "$(cat "$top/copy/status")" != "$want" ]; then
      echo "on the copy this ends with $(cat "$top/copy/status"), not $want: $copied" >&2
      head -n 5 "$top/copy/stderr" >&2
      failed=1
    elif ! diff -r "$top/copy" "$top/mount" >"$BATS_TEST_TMPDIR/diff"; then
      echo "differs from the copy: $line" >&2
      head -n 8 "$BATS_TEST_TMPDIR/diff" | cut -c1-200 >&2
      failed=1
    fi
  done 4<&0
  unmount
  [ "$failed" = 0 ]
}

@test "programs that read a file to its end" {
  same <<'EOF'
cat n
cat x word flag pos/b
cat records.jsonl | sha256sum
cat < n
busybox cat n
busybox cat x word
busybox cat records.jsonl | sha256sum
dd if=x status=none
dd if=x bs=1M status=none
dd if=x bs=777 status=none
dd if=x bs=4096 iflag=direct status=none ### cat x
dd if=x bs=1000 iflag=direct status=none ### cat x
dd if=records.jsonl bs=1M iflag=direct status=none | sha256sum ### sha256sum < records.jsonl
dd if=x bs=1000 skip=100 count=5 status=none
dd bs=500 skip=40 count=3 status=none < n
od -An -tx1 n
od -A d -j 100000 -N 64 -c n
xxd x
xxd -s -100 n
xxd -s 5000 -l 70 n
hexdump -C n
hexdump -n 100 -s 1000 x
strings -n 6 x
sha256sum n x records.jsonl pos/a
md5sum < x
cksum n x
sum n
b2sum word
base64 x
gzip -c x | gzip -dc
gzip -c < records.jsonl | gzip -dc | sha256sum
xz -0c n | xz -dc
zstd -qc records.jsonl | zstd -dqc | sha256sum
file n
git hash-object n records.jsonl
busybox md5sum n
busybox od -c word
less n
less records.jsonl
EOF
}

@test "programs that want one end, or go backwards" {
  same <<'EOF'
head -n 5 n
head -n 1 records.jsonl
head -c 100 x
head -c 200000 x
head -n -5 n
head -c -100 n
head -n 3 n x word
busybox head -n 5 n
tail -n 5 n
tail -n 5 records.jsonl
tail -c 100 n
tail -c 500000 records.jsonl
tail -n +19990 n
tail -c +100000 n
tail -n 30000 word
tail -n 3 n x word
tail -n 5 < n
tail -c 77 < x
124| timeout 1 tail -n 3 -f n
busybox tail -n 5 n
busybox tail -c 100 x
busybox tail -n +19000 word
tac n
tac records.jsonl | sed -n 1,3p
tac -s alpha word | sha256sum
sed -n '$p' x
sed -n '19999p' n
sed -n '5{p;q}' n
EOF
}

@test "programs that ask for the size" {
  same <<'EOF'
wc -c n
wc -c < n
wc -l n x word records.jsonl
wc -l < x
wc -w word
wc n x pos/a pos/b
busybox wc n
stat -c %s n x word flag pos/a pos/b records.jsonl
ls -l n x word flag records.jsonl | awk '{ print $5, $NF }'
ls -l --color=always | awk '/^-/ { print $5, $NF }'
ls -lR | awk '/^-/ { print $5, $NF }'
ls -S
ls -1
busybox ls -l n x | awk '{ print $5, $NF }'
du -b n x records.jsonl
du --apparent-size -B1 word
find . -type f -size +200k | sort
find . -type f -size -45k | sort
find . -type f -size 40000c
find . -type f -printf '%s %P\n' | sort
find . -empty
find . -name 'rec*' | sort
test -s n
1| test ! -s x
perl -e 'print -s "n"'
perl -e 'print join ",", map { -s } grep { -f } <*>'
"$PYTHON" -c 'import os; print(os.path.getsize("x"))'
EOF
}

@test "programs that copy" {
  same <<'EOF'
cp n "$OUT/n"
cp -a n x pos "$OUT"
cp -r . "$OUT"
cp --sparse=always records.jsonl "$OUT"
busybox cp n x "$OUT"
busybox cp -r . "$OUT"
install -m 644 x "$OUT/x"
cat n > "$OUT/n"
tee "$OUT/a" "$OUT/b" < word
rsync n x "$OUT"
rsync -a . "$OUT/"
rsync -a --checksum pos word "$OUT/"
tar -cf - . | tar -xf - -C "$OUT"
tar -cSf - . | tar -xf - -C "$OUT"
tar -cf - n x pos/a | tar -tvf - | awk '{ print $3, $6 }'
tar -czf - records.jsonl | tar -xzOf - | sha256sum
busybox tar -cf - . | tar -xf - -C "$OUT"
zip -qr "$OUT/z.zip" . && "$PYTHON" -m zipfile -e "$OUT/z.zip" "$OUT" && rm "$OUT/z.zip"
zip -q - n | "$PYTHON" -c 'import io, sys, zipfile; z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); print(len(z.read("n")))'
split -n 3 n "$OUT/n."
split -n l/4 x "$OUT/x."
split -n 2/5 word
split -n r/3 word "$OUT/w."
split -l 5000 n "$OUT/l."
split -b 50000 x "$OUT/b."
split -C 60000 records.jsonl "$OUT/c."
csplit -s -f "$OUT/s." n 1000 5000
EOF
}

@test "programs that search and count" {
  same <<'EOF'
grep alpha word
grep -c alpha word
grep -n '^-49' n
grep -m 3 5 n
grep -cv alpha word
grep -c . n x word records.jsonl
grep -r 12345 . | sort
grep -rl 'fill' . | sort
grep -Fx -f <(head -n 3 x) x
grep -o '"word":"gamma"' records.jsonl | wc -l
grep -b -m 2 delta word
1| grep nothere n
busybox grep -c gamma word
rg -c alpha word
rg --mmap -c alpha word
rg --no-mmap -c alpha word
rg --mmap -c '"flag":true' records.jsonl
rg --sort path -c 99 .
rg --sort path -l fill
1| rg nothere n
uniq -c word
uniq -d < word
sort word | uniq -c
EOF
}

@test "programs that take lines apart" {
  same <<'EOF'
sort -n n
sort -g x
sort word
sort -u word
sort -k1,1 -s -m n
sort -c -n flag || true
cut -c1-3 n
cut -d. -f1 x
mawk '{ s += $1 } END { printf "%.3f\n", s }' x
gawk '{ s += $1 } END { printf "%.3f %d\n", s, NR }' x
gawk -M 'END { print NR }' records.jsonl
mawk 'NR % 1000 == 0' n
gawk 'NR == FNR { a[FNR] = $1; next } { print a[FNR], $1 }' n word | tail -n 3
busybox awk 'END { print NR }' word
sed 's/a/b/' word
sed -n '100,110p;110q' x
busybox sed -n '$=' n
paste n x word flag
paste -d, n pos/a pos/b
paste -s -d+ flag | wc -c
join <(nl -w1 n | sort) <(nl -w1 word | sort)
comm -3 <(sort n) <(sort n)
comm n n 2>/dev/null | wc -l
nl word
fold -w 3 n
expand word | tail -n 2
tr a-z A-Z < word
column -t n | tail -n 1
shuf --random-source=x -n 5 n
shuf --random-source=x < word | sha256sum
fmt word | sha256sum
pr -t -3 n | tail -n 3
xargs -n 1000 echo < n | sha256sum
EOF
}

@test "programs that compare" {
  same <<'EOF'
cmp n n
1| cmp n x
cmp -s x x
cmp -n 100 n n
cmp n <(cat n)
diff n n
1| diff n word
1| diff -q n word
diff <(head -n 100 n) <(head -n 100 n)
diff -r . .
busybox cmp x x
busybox diff word word
EOF
}

@test "programming languages and data bases" {
  same <<'EOF'
"$PYTHON" -c 'print(len(open("n").read()))'
"$PYTHON" -c 'print(sum(map(float, open("x"))))'
"$PYTHON" -c 'import os; print(len(open("n", "rb").read(os.path.getsize("n"))))'
"$PYTHON" -c 'import os; f = os.open("n", os.O_RDONLY); print(os.lseek(f, 0, 2), os.pread(f, 10, 5))'
"$PYTHON" -c 'f = open("n", "rb"); f.seek(-20, 2); print(f.read())'
"$PYTHON" -c 'import mmap; f = open("x", "rb"); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ); print(len(m), m[-9:], m.find(b"99"))'
"$PYTHON" -c 'import mmap; f = open("records.jsonl", "rb"); print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)[-50:])'
"$PYTHON" -c 'import numpy as np; a = np.loadtxt("x"); print(a.shape, a.sum())'
"$PYTHON" -c 'import numpy as np; print(np.loadtxt("n", dtype=int)[-3:], np.loadtxt("pos/a", max_rows=5))'
"$PYTHON" -c 'import numpy as np; print(np.fromfile("n", sep="\n", dtype=int).sum())'
"$PYTHON" -c 'import numpy as np; print(np.genfromtxt("pos/b")[-1])'
"$PYTHON" -c 'import numpy as np; m = np.memmap("n", np.uint8, "r"); print(m.shape, int(m.sum()))'
"$PYTHON" -c 'import shutil; shutil.copyfile("n", "/dev/stdout")'
"$PYTHON" -c 'import os, shutil; shutil.copyfile("x", os.environ["OUT"] + "/x"); shutil.copytree(".", os.environ["OUT"] + "/all", copy_function=shutil.copyfile)'
"$PYTHON" -c 'import os; i = os.open("n", os.O_RDONLY); o = os.open(os.environ["OUT"] + "/n", os.O_CREAT | os.O_WRONLY); [None for _ in iter(lambda: os.sendfile(o, i, None, 65536), 0)]'
"$PYTHON" -c 'import os; i = os.open("word", os.O_RDONLY); [None for _ in iter(lambda: os.splice(i, 1, 65536), 0)]' | cat
"$PYTHON" -c 'import json; print(sum(json.loads(l)["pos"]["a"] for l in open("records.jsonl")))'
"$PYTHON" -c 'import csv; print(sum(1 for _ in csv.reader(open("word"))))'
"$PYTHON" -c 'import linecache; print(linecache.getline("n", 15000))'
perl -ne '$s += $_; END { print $s }' n
perl -0777 -ne 'print length' x
perl -e 'open F, "<", "n"; read F, $b, -s F; print length $b'
perl -e 'open F, "<", "n"; seek F, -10, 2; print <F>'
perl -e 'open F, "<:raw", "x"; print while sysread F, $_, 4099'
mapfile -t a < n; echo ${#a[@]} ${a[-1]}
a=$(<word); echo ${#a}
while read -r v; do s=$((s + v)); done < n; echo $s
while read -r v && read -r w <&3; do echo $v $w; done < n 3< word | tail -n 2
read -r a < x; echo $a
jq -c .n records.jsonl
jq -s 'map(.x) | add' records.jsonl
jq -n '[inputs | select(.flag)] | length' records.jsonl
jq -c --stream 'select(.[0][0] == "n")' records.jsonl | tail -n 1
sqlite3 :memory: 'create table t(v)' '.import n t' 'select count(*), sum(v) from t'
sqlite3 :memory: 'create table t(v)' '.import word t' 'select v, count(*) from t group by v'
EOF
}
