#!/usr/bin/env python3
"""comment.py PAGE: writes the page into the pull request (GitHub) or merge request (GitLab) of this
job, in the place of the comment that an earlier job wrote.

The token is in BIC_TOKEN; all else is in the variables that the two set. Without the right to write, as
in a pull request from a fork, or where nobody answers, it says so and ends with 0: the verdict is not the
comment's.
"""
import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

MARK = "<!-- bi-conform -->"
MOST = 65_000  # characters: GitHub takes 65,536
PAGES = 30  # of 100 comments each


class Forge:
    """Where the comments of this job's request lie."""

    def __init__(self, variables):
        self.token = variables["BIC_TOKEN"]
        if variables.get("GITLAB_CI"):
            self.comments = (f"{variables['CI_API_V4_URL']}/projects/{variables['CI_PROJECT_ID']}"
                             f"/merge_requests/{variables['CI_MERGE_REQUEST_IID']}/notes")
            self.one = self.comments
            self.change = "PUT"
            self.header = {"PRIVATE-TOKEN": self.token}
        else:
            event = json.loads(pathlib.Path(variables["GITHUB_EVENT_PATH"]).read_text())
            issues = f"{variables['GITHUB_API_URL']}/repos/{variables['GITHUB_REPOSITORY']}/issues"
            self.comments = f"{issues}/{event['pull_request']['number']}/comments"
            self.one = f"{issues}/comments"
            self.change = "PATCH"
            self.header = {"Authorization": f"Bearer {self.token}",
                           "Accept": "application/vnd.github+json"}

    def ask(self, method, address, body=None):
        request = urllib.request.Request(
            address, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "bi-conform"} | self.header)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def earlier(self):
        """The id of the comment that bears the mark; none if there is none."""
        for page in range(1, PAGES + 1):
            comments = self.ask("GET", f"{self.comments}?per_page=100&page={page}")
            for comment in comments:
                if comment["body"].startswith(MARK):
                    return comment["id"]
            if len(comments) < 100:
                return None
        return None

    def write(self, text):
        body = {"body": f"{MARK}\n{text}"[:MOST]}
        earlier = self.earlier()
        if earlier is None:
            self.ask("POST", self.comments, body)
        else:
            self.ask(self.change, f"{self.one}/{earlier}", body)


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    try:
        Forge(os.environ).write(text)
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403, 404):
            raise
        print(f"::warning title=bi-conform::no comment: the token may not write one ({error.code})")
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        why = " ".join(str(getattr(error, "reason", error)).split())
        print(f"::warning title=bi-conform::no comment: {why}")


if __name__ == "__main__":
    main()
