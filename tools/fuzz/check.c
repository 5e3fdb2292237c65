// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: lines into the kernel, and what must be true of what comes out.
 *
 * A line that is taken is listed, one that is refused changes nothing and is in
 * error_log with its place.  At the end of a batch all that is listed is taken
 * away, written back in one stroke, and must list as before; some batches are
 * then enabled and hit, or fed once more as one write.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define TRACING	"/sys/kernel/tracing/"

/* The longest line that the kernel takes, the newline not counted. */
#define LONGEST	4094

#define MAX_TEXT	(4 << 20)

/* What a file says. */
struct content {
	size_t len;
	char *s;
};

static const char * const files[NR_TARGETS] = {
	[KPROBE_EVENTS]		= TRACING "kprobe_events",
	[DYNAMIC_EVENTS]	= TRACING "dynamic_events",
};

static int list_fd[NR_TARGETS], feed_fd[NR_TARGETS], log_fd, taint_fd;

/* Now, and as it was before the last line. */
static struct content list, list_before, log, log_before;
/* The batch's lines as one write, up to the first that was refused. */
static struct content batch_text, batch_list;
static int batch_err;
static bool batch_open;
static char taint[32];

static void content_init(struct content *c)
{
	c->s = malloc(MAX_TEXT + 1);
	if (!c->s)
		die("no memory");
	c->len = 0;
	c->s[0] = '\0';
}

static void content_copy(struct content *to, const struct content *from)
{
	memcpy(to->s, from->s, from->len + 1);
	to->len = from->len;
}

static bool same(const struct content *a, const struct content *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

static void swap(struct content *a, struct content *b)
{
	struct content c = *a;

	*a = *b;
	*b = c;
}

static void read_all(int fd, struct content *c)
{
	ssize_t n;

	c->len = 0;
	while ((n = pread(fd, c->s + c->len, MAX_TEXT - c->len, c->len)) > 0)
		c->len += n;
	if (n < 0)
		die("reading a listing");
	c->s[c->len] = '\0';
}

static unsigned int nr_lines(const struct content *c)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < c->len; i++)
		n += c->s[i] == '\n';
	return n;
}

static int open_or_die(const char *name, int flags)
{
	int fd = open(name, flags);

	if (fd < 0)
		die("%s", name);
	return fd;
}

/* Take away all events; 0 or -errno. */
static int clear(enum tracefs_file target)
{
	int fd = open(files[target], O_WRONLY | O_TRUNC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int write_word(const char *name, const char *word)
{
	int fd = open(name, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, word, strlen(word)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* 0, -errno, or -EIO when only a part was taken without an error. */
static int feed(enum tracefs_file target, const char *s, size_t len)
{
	ssize_t n = write(feed_fd[target], s, len);

	if (n < 0)
		return -errno;
	return n == (ssize_t)len ? 0 : -EIO;
}

/* The errnos that the documentation names. */
static bool documented(int err)
{
	switch (-err) {
	case EINVAL: case ENOENT: case EEXIST: case EBUSY: case ENOMEM:
	case E2BIG: case EADDRNOTAVAIL: case EILSEQ: case ENODEV:
	case EOPNOTSUPP: case ENOSPC: case ERANGE: case ENAMETOOLONG:
	case ENOTDIR: case EISDIR: case EACCES: case ELOOP:
		return true;
	}
	return false;
}

/* What is before a comment, and of that the first byte that is no space. */
static char first_byte(const struct text *t)
{
	size_t i;

	for (i = 0; i < t->len && t->s[i] != '#'; i++)
		if (!isspace((unsigned char)t->s[i]) &&
		    (unsigned char)t->s[i] != 0xa0)
			return t->s[i];
	return '\0';
}

/*
 * Not those whose errors nobody logs: no memory, too long, and what is no
 * definition: that there is nothing to delete is told by the errno alone.
 */
static bool is_logged(const struct text *t, enum tracefs_file target, int err)
{
	char c = first_byte(t);

	if (err == -ENOMEM || t->len > LONGEST || c == '-' || c == '!')
		return false;
	/* Each kind of event leaves to the others what is not its own. */
	if (target == DYNAMIC_EVENTS || opt.lenient)
		return false;
	return true;
}

/* The line of @c before the one that ends at @end; where it begins. */
static size_t line_before(const struct content *c, size_t end)
{
	while (end && c->s[end - 1] != '\n')
		end--;
	return end;
}

/*
 * The last entry of error_log is three lines: the message, the command and the
 * caret.  NULL, or what is wrong with it; the message is counted.
 */
static const char *look_at_entry(void)
{
	static const char prefix[] = "  Command: ";
	size_t caret, command, header, at, len;
	char *message;

	if (log.len < 2 || log.s[log.len - 1] != '\n')
		return "error_log does not end in a line";
	caret = line_before(&log, log.len - 1);
	if (!caret || log.s[log.len - 2] != '^')
		return "error_log does not end in a caret";
	command = line_before(&log, caret - 1);
	if (!command || strncmp(log.s + command, prefix, strlen(prefix)))
		return "error_log shows no command";
	header = line_before(&log, command - 1);
	len = caret - 1 - command - strlen(prefix);
	at = log.len - 2 - caret;
	/* A word that is missing would stand one blank behind the last. */
	if (at < strlen(prefix) || at - strlen(prefix) > len + 1)
		return "the caret is outside of the command";
	log.s[command - 1] = '\0';
	message = strstr(log.s + header, "error: ");
	if (message)
		count(message);
	log.s[command - 1] = '\n';
	return message && message[strlen("error: ")] != '\n' ? NULL :
		"error_log has no message";
}

static const char *last_entry(const struct content *c)
{
	size_t at = c->len;
	int i;

	for (i = 0; i < 3 && at; i++)
		at = line_before(c, at - 1);
	return c->s + at;
}

/* A mutation may have given its name to a line before it. */
static bool name_is_taken(const struct text *t)
{
	size_t end = strcspn(t->s, " "), at = end;
	char name[MAX_LINE + 3];

	while (at && !strchr("/:", t->s[at - 1]))
		at--;
	snprintf(name, sizeof(name), "/%.*s ", (int)(end - at), t->s + at);
	return strstr(list_before.s, name);
}

static void check_refused(uint64_t nr, const struct text *t,
			  enum tracefs_file target, enum fate fate, int err)
{
	const char *wrong = NULL;
	char name[64];

	snprintf(name, sizeof(name), "refused: %s", strerror(-err));
	count(name);
	read_all(log_fd, &log);
	if (!same(&log, &log_before)) {
		wrong = look_at_entry();
		if (opt.lenient && wrong) {
			count(wrong);
			wrong = NULL;
		}
	} else if (is_logged(t, target, err)) {
		wrong = "nothing new is in error_log";
	} else {
		count("not logged");
	}
	swap(&log, &log_before);
	if (wrong)
		finding(nr, t, "refused (%s), but %s", strerror(-err), wrong);
	if (fate == MUST_PASS && err == -EEXIST && name_is_taken(t))
		count("right, but for its name");
	else if (fate == MUST_PASS)
		finding(nr, t, "refused (%s), but it is as documented:\n%s",
			strerror(-err), last_entry(&log_before));
	if (!documented(err))
		finding(nr, t, "refused with error %d", -err);
	if (!same(&list, &list_before))
		finding(nr, t, "refused (%s), but it changed the list",
			strerror(-err));
}

static void check_taken(uint64_t nr, const struct text *t, enum fate fate)
{
	int more = nr_lines(&list) - nr_lines(&list_before);
	char c = first_byte(t);

	count(fate == MUST_PASS ? "taken, must be" : "taken");
	if (c == '-' || c == '!') {
		if (more >= 0)
			finding(nr, t, "a deletion was taken, the list has %d more",
				more);
	} else if (!c) {
		if (more)
			finding(nr, t, "an empty line changed the list");
	} else if (more != 1) {
		finding(nr, t, "taken, but the list has %d more lines", more);
	} else if (strncmp(list.s, list_before.s, list_before.len)) {
		count("taken, and listed among others");
	}
}

/* Remember what one write of the batch so far must come to. */
static void remember(const struct text *t, int err)
{
	if (!batch_open || t->len > LONGEST ||
	    batch_text.len + t->len + 1 > MAX_TEXT) {
		batch_open = false;
		return;
	}
	memcpy(batch_text.s + batch_text.len, t->s, t->len);
	batch_text.len += t->len;
	batch_text.s[batch_text.len++] = '\n';
	batch_err = err;
	content_copy(&batch_list, &list);
	if (err)
		batch_open = false;
}

static void check_line(uint64_t nr, enum tracefs_file target)
{
	static struct text t;
	enum fate fate = make_line(nr, target, &t);
	int err;

	t.s[t.len] = '\n';
	err = feed(target, t.s, t.len + 1);
	t.s[t.len] = '\0';
	swap(&list, &list_before);
	read_all(list_fd[target], &list);
	if (err)
		check_refused(nr, &t, target, fate, err);
	else
		check_taken(nr, &t, fate);
	remember(&t, err);
}

static void check_clear(uint64_t nr, enum tracefs_file target)
{
	int err = clear(target);

	if (err)
		finding(nr, NULL, "not all can be taken away: %s",
			strerror(-err));
	read_all(list_fd[target], &list);
	if (list.len)
		finding(nr, NULL, "after all was taken away there is:\n%.200s",
			list.s);
}

/* @text as one write comes to @expected, and to that error. */
static void check_write(uint64_t nr, enum tracefs_file target, const char *what,
			const struct content *text,
			const struct content *expected, int expected_err)
{
	int err = feed(target, text->s, text->len);
	size_t i;

	read_all(list_fd[target], &list);
	if (err == expected_err && same(&list, expected))
		return;
	if (opt.lenient) {
		count(what);
		return;
	}
	for (i = 0; i < list.len && i < expected->len; i++)
		if (list.s[i] != expected->s[i])
			break;
	while (i && list.s[i - 1] != '\n')
		i--;
	finding(nr, NULL, "%s comes out otherwise\n  error %d: %.*s\n  expected %d: %.*s",
		what, -err,
		(int)strcspn(list.s + (i < list.len ? i : list.len), "\n"),
		list.s + (i < list.len ? i : list.len), -expected_err,
		(int)strcspn(expected->s + i, "\n"), expected->s + i);
}

/* Does a glob take in almost everything?  That many hits take too long. */
static bool too_wide(const struct content *c)
{
	const char *line, *place;
	size_t len;

	for (line = c->s; *line; line = strchr(line, '\n') + 1) {
		place = line + strcspn(line, " ");
		place += *place == ' ';
		len = strcspn(place, " %\n");
		if (memchr(place, '*', len) && len < 6)
			return true;
	}
	return false;
}

/* Enable what is in the group, do what hits it, and read what was traced. */
static void hit(void)
{
	static const char enable[] = TRACING "events/" GROUP "/enable";
	char buf[4096];
	int fd, i, err;

	if (access(enable, F_OK))
		return;
	err = write_word(enable, "1");
	count(err ? "enabled in part" : "enabled");
	for (i = 0; i < 20; i++) {
		fd = open("/proc/version", O_RDONLY);
		if (fd >= 0) {
			if (read(fd, buf, sizeof(buf)) < 0)
				count("a read failed");
			close(fd);
		}
	}
	write_word(enable, "0");
	fd = open_or_die(TRACING "trace", O_RDONLY);
	for (i = 0; i < 16 && read(fd, buf, sizeof(buf)) > 0; i++)
		;
	close(fd);
	fd = open_or_die(TRACING "trace", O_WRONLY | O_TRUNC);
	close(fd);
}

/* A kernel that complained is tainted: the batch at fault is then known. */
static void check_taint(uint64_t nr)
{
	char now[sizeof(taint)] = "";

	if (pread(taint_fd, now, sizeof(now) - 1, 0) < 0)
		die("reading the taint");
	if (strcmp(now, taint)) {
		finding(nr, NULL, "the kernel is tainted: was %.*s, is %.*s",
			(int)strcspn(taint, "\n"), taint,
			(int)strcspn(now, "\n"), now);
		memcpy(taint, now, sizeof(taint));
	}
}

void check_batch(uint64_t batch, uint64_t first, uint64_t last)
{
	static struct content all;
	enum tracefs_file target = target_of(batch);
	uint64_t nr;

	if (!all.s)
		content_init(&all);
	batch_text.len = 0;
	batch_list.len = 0;
	batch_err = 0;
	batch_open = true;
	list.len = 0;
	list.s[0] = '\0';
	read_all(log_fd, &log_before);
	for (nr = first; nr < last; nr++)
		check_line(nr, target);

	content_copy(&all, &list);
	check_clear(first, target);
	check_write(first, target, "the list, written back", &all, &all, 0);
	if (batch % 16 == 0 && !too_wide(&all))
		hit();
	check_clear(first, target);
	if (batch % 4 == 0 && batch_text.len) {
		check_write(first, target, "the lines in one write",
			    &batch_text, &batch_list, batch_err);
		check_clear(first, target);
	}
	check_taint(first);
}

void check_open(void)
{
	int i;

	for (i = 0; i < NR_TARGETS; i++) {
		list_fd[i] = open_or_die(files[i], O_RDONLY);
		feed_fd[i] = open_or_die(files[i], O_WRONLY | O_APPEND);
	}
	log_fd = open_or_die(TRACING "error_log", O_RDONLY);
	taint_fd = open_or_die("/proc/sys/kernel/tainted", O_RDONLY);
	if (pread(taint_fd, taint, sizeof(taint) - 1, 0) < 0)
		die("reading the taint");
	content_init(&list);
	content_init(&list_before);
	content_init(&log);
	content_init(&log_before);
	content_init(&batch_text);
	content_init(&batch_list);
}

/* Nothing is left, of whatever kind. */
void check_close(void)
{
	check_clear(opt.first + opt.lines, DYNAMIC_EVENTS);
}
