/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a fuzz target its corpus, file by file: what a fuzzer once found stays found.
 * The program tests/fuzz/fuzz_NAME reads $srcdir/tests/fuzz/corpus/NAME, or the files it is given. Speaks TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static unsigned char *file_read(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *data;
	long size;

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	/* Allocated with its exact size, so that a sanitizer finds a read beyond the end. */
	data = size < 0 ? NULL : malloc(size ? (size_t)size : 1);
	*ret_size = data ? fread(data, 1, (size_t)size, file) : 0;
	fclose(file);
	return data;
}

static void replay(const char *path, int number)
{
	size_t size = 0;
	unsigned char *data = file_read(path, &size);

	if (!data) {
		printf("not ok %d - %s cannot be read\n", number, path);
		return;
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	printf("ok %d - %s\n", number, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	const char *source = getenv("srcdir") ? getenv("srcdir") : ".";
	struct dirent **entries = NULL;
	char folder[1024], path[2048];
	int count;

	if (argc > 1) {
		printf("1..%d\n", argc - 1);
		for (int i = 1; i < argc; i++)
			replay(argv[i], i);
		return 0;
	}
	if (strncmp(name, "fuzz_", 5) == 0)
		name += 5;
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source, name);
	count = scandir(folder, &entries, visible, alphasort);
	if (count < 1) {
		printf("Bail out! no corpus in %s\n", folder);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		replay(path, i + 1);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
