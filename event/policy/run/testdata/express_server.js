const express = require('express');
const app = express();

app.use(express.json());

app.post('/hook', (req, res) => {
    const { event, data } = req.body;
    
    // Process the event
    if (event.type === 'PreToolUse' && data.tool_name === 'Write') {
        // Example: Modify file paths
        if (data.tool_input.file_path.startsWith('/tmp/')) {
            return res.json({
                version: '1.0',
                decision: 'modify',
                modified_data: {
                    tool_input: {
                        ...data.tool_input,
                        file_path: data.tool_input.file_path.replace('/tmp/', '/safe/tmp/')
                    }
                }
            });
        }
    }
    
    // Default: allow
    res.json({
        version: '1.0',
        decision: 'allow'
    });
});

app.listen(8080);
